//! What people read: the page, the table, comparisons, and how a browser draws the page.

mod browser;
mod chromium;
mod compare;
mod custom_table;
mod first_look;
mod made;
mod maps;
mod page;
mod table;
mod warnings;

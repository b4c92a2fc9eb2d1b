//! Tests of the output: the page, the table, comparisons, and the page as a browser draws it.

mod browser;
mod chromium;
mod compare;
mod custom_table;
mod explanations;
mod first_look;
mod made;
mod maps;
mod page;
mod sensitivity;
mod table;
mod warnings;

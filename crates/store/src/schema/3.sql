-- Runs may be results of other programs, measured elsewhere. A constraint can be changed in the text of the schema
-- alone (sqlite.org/lang_altertable.html, section 7: it changes nothing that is stored).
PRAGMA writable_schema = ON;
UPDATE sqlite_schema
   SET sql = replace(sql, '(''lab'', ''host'')', '(''lab'', ''host'', ''foreign'')')
 WHERE type = 'table' AND name = 'run';
PRAGMA writable_schema = RESET;

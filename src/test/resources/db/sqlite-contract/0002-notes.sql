CREATE TABLE note (
  id INTEGER PRIMARY KEY,
  text TEXT, -- one of these; never all
  bytes BLOB,
  number INTEGER
);
CREATE INDEX note_text ON note (text);
-- A log: rows are added, in order, and nothing else.
CREATE TABLE entry (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  text TEXT,
  bytes BLOB,
  number INTEGER UNIQUE
);

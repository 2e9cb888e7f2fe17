CREATE TABLE note (
  id INTEGER PRIMARY KEY,
  text TEXT, -- one of these; never all
  bytes BLOB,
  number INTEGER
);
CREATE INDEX note_text ON note (text);

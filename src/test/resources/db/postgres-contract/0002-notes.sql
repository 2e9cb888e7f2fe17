CREATE TABLE note (
  id BIGINT PRIMARY KEY,
  text TEXT, -- one of these; never all
  bytes BYTEA,
  number BIGINT
);
CREATE INDEX note_text ON note (text);

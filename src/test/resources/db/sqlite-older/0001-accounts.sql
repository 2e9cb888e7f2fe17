-- A counter with a revision to compare and set.
CREATE TABLE account (
  name TEXT PRIMARY KEY,
  revision INTEGER NOT NULL,
  balance INTEGER
);

-- Each process puts a row here now and then and takes it away in the same transaction, to learn whether the
-- store can be written. Nothing ever stays.
CREATE TABLE probe (
  probe_id TEXT COLLATE "C" PRIMARY KEY,
  filler TEXT COLLATE "C" NOT NULL
);

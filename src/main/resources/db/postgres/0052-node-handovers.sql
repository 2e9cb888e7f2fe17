-- serves-from: 42
-- The last examination of a machine's hardware: OK, DEGRADED, FAILED or UNKNOWN, since when, and a fault a line.
ALTER TABLE node ADD COLUMN health TEXT COLLATE "C";
ALTER TABLE node ADD COLUMN health_since BIGINT;
ALTER TABLE node ADD COLUMN health_reasons TEXT COLLATE "C";
-- The digest of the accepted list of what root owns on a machine.
ALTER TABLE node ADD COLUMN baseline TEXT COLLATE "C";
-- That a machine was cleaned after an allocation, and what was done.
CREATE TABLE handover (
  allocation_id TEXT COLLATE "C" PRIMARY KEY,
  node_id TEXT COLLATE "C" NOT NULL,
  cleaned_at BIGINT NOT NULL,
  seconds BIGINT NOT NULL,
  processes BIGINT NOT NULL,
  files BIGINT NOT NULL,
  objects BIGINT NOT NULL,
  baseline TEXT COLLATE "C"
);
CREATE INDEX handover_of_node ON handover (node_id, cleaned_at);

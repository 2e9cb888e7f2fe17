-- Batches of audited reads that were stored, by the id each had before its commit: one whose commit's outcome
-- nobody knows is tried again, and stored once. A mark goes when its process knows, or after a day.
CREATE TABLE audit_read_batch (
  batch_id TEXT COLLATE "C" PRIMARY KEY,
  made_at BIGINT NOT NULL
);

-- The newest time that was ever confirmed.
CREATE TABLE clock_mark (
  name TEXT PRIMARY KEY,
  millis INTEGER NOT NULL
);

-- Usage posted for an hour that turned out to lie ahead is reversed: by another transaction, which names
-- the one it reverses. The hour's key is free again then.
ALTER TABLE ledger_transaction ADD COLUMN reversed_at INTEGER;
ALTER TABLE ledger_transaction ADD COLUMN reverses INTEGER;
CREATE INDEX ledger_usage_made ON ledger_transaction (made_at)
  WHERE kind = 'usage' AND reversed_at IS NULL AND reverses IS NULL;

-- When everybody's mark was moved.
ALTER TABLE billing_posted ADD COLUMN advanced_at INTEGER;

-- Whatever a clock that was ahead has left is found by its time.
CREATE INDEX allocation_reclaim ON allocation (reclaim_at);
CREATE INDEX activity_at ON activity (ts);

-- What the holder of a lease last published, and its epoch: of use where processes share a database.
ALTER TABLE lease ADD COLUMN quote TEXT;
ALTER TABLE lease ADD COLUMN quote_epoch INTEGER;

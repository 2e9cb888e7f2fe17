-- What the holder of a lease last published, and its epoch, so that who waits for the lease shows the same and does not
-- compute it. A process of the release before leaves both as they are: of another epoch than the lease's they hold for
-- nobody.
ALTER TABLE lease ADD COLUMN quote TEXT COLLATE "C";
ALTER TABLE lease ADD COLUMN quote_epoch BIGINT;

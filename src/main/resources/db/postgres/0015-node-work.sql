-- The allocation a machine could not be cleaned after, when that is why it is quarantined; and how often
-- operators had its work taken up again, so that whoever runs its pool's market sees each time they do.
ALTER TABLE node ADD COLUMN unclean_after TEXT COLLATE "C";
ALTER TABLE node ADD COLUMN retries BIGINT NOT NULL DEFAULT 0;

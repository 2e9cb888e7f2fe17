-- How long before its nodes are taken back for a rival a pool tells their holders; null for as long as the service's
-- setting says.
ALTER TABLE pool ADD COLUMN notice_millis INTEGER;
-- From when on something happens that an entry announces.
ALTER TABLE activity ADD COLUMN ends_at INTEGER;

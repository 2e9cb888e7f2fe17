-- Members make clusters by themselves in pools that operators open, as many as their organization may have: null is
-- the service's setting. A retired cluster keeps its row, for bills and activity name it, and its name is not used
-- again; its writes are disarmed too, which is what a process that knows no retiring goes by.
ALTER TABLE pool ADD COLUMN self_service INTEGER NOT NULL DEFAULT 0;
ALTER TABLE org ADD COLUMN max_clusters INTEGER;
ALTER TABLE cluster ADD COLUMN description TEXT;
ALTER TABLE cluster ADD COLUMN retired_at INTEGER;

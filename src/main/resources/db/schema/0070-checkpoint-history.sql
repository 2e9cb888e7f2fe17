-- serves-from: 57
-- The newest published revisions of each item, also after their bytes were replaced. The previous release deletes items
-- without these rows; nothing reads them then, because ids are never used again.
CREATE TABLE checkpoint_history (
  item_id TEXT NOT NULL,
  revision INTEGER NOT NULL,
  published_at INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  files INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  credential_id TEXT,
  PRIMARY KEY (item_id, revision)
);
INSERT INTO checkpoint_history (item_id, revision, published_at, bytes, files, sha256, credential_id)
  SELECT item_id, revision, published_at, bytes, files, sha256, credential_id FROM checkpoint_revision
  WHERE published_at IS NOT NULL AND sha256 IS NOT NULL;

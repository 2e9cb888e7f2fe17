-- One row a family of refresh tokens, however often it is refreshed, in the place of one for each token: all
-- tokens of a family begin alike. The digest of that beginning finds the row, and a token of the family whose
-- own digest is not the one kept was used before. A token from before is the first of its family.
CREATE TABLE oauth_family (
  family_sha256 TEXT PRIMARY KEY,
  grant_id TEXT NOT NULL REFERENCES oauth_grant (grant_id),
  refresh_sha256 TEXT NOT NULL
);
INSERT INTO oauth_family (family_sha256, grant_id, refresh_sha256)
  SELECT refresh_sha256, grant_id, refresh_sha256 FROM oauth_refresh WHERE used_at IS NULL;
DROP TABLE oauth_refresh;
ALTER TABLE oauth_family RENAME TO oauth_refresh;
CREATE UNIQUE INDEX oauth_refresh_family_of_grant ON oauth_refresh (grant_id);

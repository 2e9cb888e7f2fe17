-- Step 9 left these to the database's locale; text is compared by its bytes here, as in every other engine.
ALTER TABLE oauth_refresh
  ALTER COLUMN family_sha256 TYPE TEXT COLLATE "C",
  ALTER COLUMN grant_id TYPE TEXT COLLATE "C",
  ALTER COLUMN refresh_sha256 TYPE TEXT COLLATE "C";

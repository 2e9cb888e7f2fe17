-- serves-from: 57
-- Publishing credentials are grants with a limit of bytes. published_bytes counts published revisions; drafts count by
-- their own rows. A credential with an allocation ends with it.
ALTER TABLE oauth_grant ADD COLUMN publish_bytes INTEGER;
ALTER TABLE oauth_grant ADD COLUMN published_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE oauth_grant ADD COLUMN allocation_id TEXT;
CREATE INDEX oauth_grant_of_allocation ON oauth_grant (expires_at)
    WHERE allocation_id IS NOT NULL AND revoked_at IS NULL;
ALTER TABLE checkpoint_revision ADD COLUMN credential_id TEXT;
CREATE INDEX checkpoint_revision_by_credential ON checkpoint_revision (credential_id)
    WHERE credential_id IS NOT NULL AND state = 'pending';

-- serves-from: 42
-- Whether API tokens of the organization need the scope capacity:write to add and revoke ssh keys. A process of the
-- previous release does not ask.
ALTER TABLE org ADD COLUMN ssh_keys_need_write BIGINT NOT NULL DEFAULT 0;

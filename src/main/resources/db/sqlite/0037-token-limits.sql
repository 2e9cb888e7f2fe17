-- How far the declarations of a token, or of an application that a member let in, may go; null for as far as anybody's.
ALTER TABLE token ADD COLUMN max_gpus INTEGER;
ALTER TABLE token ADD COLUMN max_price_cents INTEGER;
ALTER TABLE token ADD COLUMN max_hourly_cents INTEGER;
ALTER TABLE token ADD COLUMN max_lease_millis INTEGER;
ALTER TABLE oauth_grant ADD COLUMN max_gpus INTEGER;
ALTER TABLE oauth_grant ADD COLUMN max_price_cents INTEGER;
ALTER TABLE oauth_grant ADD COLUMN max_hourly_cents INTEGER;
ALTER TABLE oauth_grant ADD COLUMN max_lease_millis INTEGER;
-- By which consent an application wrote the declaration, and what one token wrote last.
ALTER TABLE cluster ADD COLUMN declared_with TEXT;
CREATE INDEX cluster_declared_by ON cluster (declared_by, org_id) WHERE max_gpus > 0;

-- serves-from: 57
-- What tenants of a pool are: LOGIN, without root rights, or ROOT, whose machines get a new image after each.
ALTER TABLE pool ADD COLUMN tenants TEXT NOT NULL DEFAULT 'LOGIN';
-- A new image that a machine needs before it is granted again: after which allocation, by which of the operators'
-- retries, until when (-1 if it failed), and the host key that the operator's command answered.
ALTER TABLE node ADD COLUMN reimage_of TEXT;
ALTER TABLE node ADD COLUMN reimage_retry INTEGER;
ALTER TABLE node ADD COLUMN reimage_until INTEGER;
ALTER TABLE node ADD COLUMN reimage_key TEXT;
-- The host key that a new image replaced; null if the machine was cleaned without one. Such a key is never pinned
-- again, because a tenant may have copied it.
ALTER TABLE handover ADD COLUMN replaced_key TEXT;
CREATE INDEX handover_replaced_key ON handover (replaced_key) WHERE replaced_key IS NOT NULL;

-- serves-from: 42
-- The actor that last set an address; null while it is as the actor in created_by set it. A process of the previous
-- release that changes an address does not set the actor, so the address counts as an earlier author's.
ALTER TABLE webhook_endpoint ADD COLUMN url_by TEXT;
ALTER TABLE trail_stream ADD COLUMN destination_by TEXT;

-- A member's keys, revoked ones too, when the member is removed.
CREATE INDEX ssh_key_of_org ON ssh_key (org_id, created_at);

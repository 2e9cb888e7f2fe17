-- serves-from: 42
-- The monthly spend limit that members set and the one that operators set. limit_micros is the one in force, the lower
-- of the two, and the only one that a process of the previous release reads and writes.
ALTER TABLE billing_org ADD COLUMN member_limit_micros BIGINT;
ALTER TABLE billing_org ADD COLUMN operator_limit_micros BIGINT;
CREATE INDEX billing_org_operator_limited ON billing_org (org_id) WHERE operator_limit_micros IS NOT NULL;
-- A limit is the operator's if the trail says that an operator wrote it last, and the members' otherwise.
UPDATE billing_org SET operator_limit_micros = limit_micros WHERE limit_micros IS NOT NULL AND EXISTS (
SELECT 1 FROM audit a WHERE a.id = (
SELECT MAX(b.id) FROM audit b WHERE b.org_id = billing_org.org_id AND b.is_read = 0
AND b.action IN ('spend_limit_set', 'spend_limit_clear'))
AND a.actor LIKE 'operator:%' AND a.detail = 'limit_micros=' || billing_org.limit_micros);
UPDATE billing_org SET member_limit_micros = limit_micros WHERE operator_limit_micros IS NULL;

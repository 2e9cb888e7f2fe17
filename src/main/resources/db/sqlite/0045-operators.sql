-- serves-from: 42
-- An organization that an operator holds by hand, whatever its money says: the stage it is in, null while it is in
-- none, and when that last changed, 0 before the first time.
ALTER TABLE billing_org ADD COLUMN operator_hold_stage TEXT;
ALTER TABLE billing_org ADD COLUMN operator_hold_since INTEGER NOT NULL DEFAULT 0;
ALTER TABLE billing_org ADD COLUMN operator_hold_reason TEXT;
ALTER TABLE billing_org ADD COLUMN operator_hold_by TEXT;
CREATE INDEX billing_org_by_operator ON billing_org (operator_hold_since, org_id) WHERE operator_hold_stage IS NOT NULL;
-- Whether an operator's token only reads. A process of the release before takes it for one that may do all.
ALTER TABLE operator_token ADD COLUMN read_only INTEGER NOT NULL DEFAULT 0;

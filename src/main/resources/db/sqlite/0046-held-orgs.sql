-- serves-from: 42
-- For who lists the organizations that are held, a page at a time by id.
CREATE INDEX billing_org_operator_held ON billing_org (org_id) WHERE operator_hold_stage IS NOT NULL;
CREATE INDEX billing_org_money_held ON billing_org (org_id) WHERE hold_stage <> 'NONE';

-- serves-from: 42
-- When it was proven that a domain is the organization's, and by whom: an operator, or the member who had
-- the DNS record looked up. A rule of kind domain admits nobody before that, and the rules of older stores are
-- not proven either. A domain has one owner.
ALTER TABLE join_rule ADD COLUMN proven_at INTEGER;
ALTER TABLE join_rule ADD COLUMN proven_by TEXT;
CREATE UNIQUE INDEX join_rule_owner ON join_rule (value) WHERE kind = 'domain' AND proven_at IS NOT NULL;

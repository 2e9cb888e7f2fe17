-- Ways in for statements that read whole tables: sweeps by age, and the few rows of many that somebody looks for.
CREATE INDEX org_retired ON org (retired_at, org_id) WHERE retired_at IS NOT NULL;
CREATE INDEX allocation_active ON allocation (active_at);
CREATE INDEX billing_org_limited ON billing_org (org_id) WHERE limit_micros IS NOT NULL;
CREATE INDEX billing_org_enforced ON billing_org (org_id) WHERE hold_enforced <> 0;
CREATE INDEX member_cutoff_age ON member_cutoff (kept_until);
CREATE INDEX revoked_grant_age ON revoked_grant (kept_until);
CREATE INDEX oauth_grant_end ON oauth_grant (expires_at);
CREATE INDEX oauth_grant_revoked ON oauth_grant (revoked_at) WHERE revoked_at IS NOT NULL;
CREATE INDEX oauth_code_of_grant ON oauth_code (grant_id);
CREATE INDEX audit_read_batch_age ON audit_read_batch (made_at);

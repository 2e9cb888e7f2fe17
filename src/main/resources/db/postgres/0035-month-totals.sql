-- What an organization was billed for the hours of one month, from month_start up to month_through; the lines behind
-- that are added when it is read. So what a process of the release before posts, in order and behind it, counts too.
-- Should that process reverse an hour in these minutes, the next hour posted for the organization puts the sum right.
ALTER TABLE billing_org ADD COLUMN month_start BIGINT;
ALTER TABLE billing_org ADD COLUMN month_micros BIGINT NOT NULL DEFAULT 0;
ALTER TABLE billing_org ADD COLUMN month_through BIGINT NOT NULL DEFAULT 0;

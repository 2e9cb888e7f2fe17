-- What an organization was billed for the hours of one month, from month_start up to month_through; the lines behind
-- that are added when it is read.
ALTER TABLE billing_org ADD COLUMN month_start INTEGER;
ALTER TABLE billing_org ADD COLUMN month_micros INTEGER NOT NULL DEFAULT 0;
ALTER TABLE billing_org ADD COLUMN month_through INTEGER NOT NULL DEFAULT 0;

package dev.bourse.pools;

/**
 * Platform-wide switches that every capacity read shows.
 *
 * @param writesArmed whether capacity writes are accepted anywhere
 * @param spendLimitEnforced whether monthly spend limits are acted on
 * @param billingHoldEnforced whether a zero or negative balance is acted on
 */
public record Switches(
    boolean writesArmed, boolean spendLimitEnforced, boolean billingHoldEnforced) {}

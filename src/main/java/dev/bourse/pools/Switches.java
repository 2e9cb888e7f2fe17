package dev.bourse.pools;

/**
 * Platform-wide switches that every capacity read shows.
 *
 * @param writesArmed true if the platform accepts capacity writes
 * @param spendLimitEnforced true if monthly spend limits are enforced
 * @param billingHoldEnforced true if a zero or negative balance causes a billing hold
 */
public record Switches(
    boolean writesArmed, boolean spendLimitEnforced, boolean billingHoldEnforced) {}

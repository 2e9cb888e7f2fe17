/**
 * What tests of every package set up: a service in this process ({@code RunningBourse}) or in one
 * of its own ({@code ChildBourse}, {@code ReplicaPair}), a market that no other test touches
 * ({@code TestMarket}), clients of it, and checks that every answer goes through.
 */
@NullMarked
package dev.bourse.testing;

import org.jspecify.annotations.NullMarked;

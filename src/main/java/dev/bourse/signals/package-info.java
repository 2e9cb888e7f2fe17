/**
 * Metrics. {@link dev.bourse.signals.Signals} holds each with its name, meaning, unit and labels,
 * and prints all of them as {@code /metrics} and as the page {@code /docs/signals}, so that both
 * list the same metrics.
 *
 * <p>The package that owns a fact registers its metric, in a method {@code
 * registerMetrics(Signals)} that {@code app} calls. Events in the path of requests are counted by
 * striped counters; every other number is read from memory at a scrape. No metric reads the store,
 * because a scrape must answer while the store is down.
 *
 * <p>All labels are in {@link dev.bourse.signals.Label}. The program or the operators'
 * configuration bounds the values of each, so no member can create series: a cluster, an
 * organization, a token or an address is never a label.
 *
 * <p>Rejected: Micrometer, whose registries, tags and naming rules would stand between these names
 * and the printed ones; the Prometheus client counts and prints all that is needed. Its collectors
 * of the JVM, which print some fifty series that nobody watches here.
 */
@NullMarked
package dev.bourse.signals;

import org.jspecify.annotations.NullMarked;

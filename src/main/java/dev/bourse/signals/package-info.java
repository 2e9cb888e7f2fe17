/**
 * What the service tells those who watch it, in numbers: {@link dev.bourse.signals.Signals} has
 * each with its name, meaning, unit and labels, prints all as {@code /metrics} and as the page
 * {@code /docs/signals}, so that neither knows a number that the other does not.
 *
 * <p>A package that owns a fact shows it itself, in a method {@code show(Signals)} that {@code app}
 * calls. What is counted while requests are served is a striped counter; everything else is read
 * from memory when somebody scrapes. Nothing here asks the store: a scrape must answer when the
 * store is away.
 *
 * <p>Labels are those of {@link dev.bourse.signals.Label} and no others. Each is bounded by the
 * program or by what operators configure, so no member can make series: a cluster, an organization,
 * a token or an address is never one.
 *
 * <p>Rejected: Micrometer, whose registries, tags and naming rules would stand between these names
 * and those that are printed; the Prometheus client, which counts and prints here, is enough. Its
 * collectors of the Java machine too, which print some fifty series that nobody watches here.
 */
@NullMarked
package dev.bourse.signals;

import org.jspecify.annotations.NullMarked;

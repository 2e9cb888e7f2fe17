/**
 * The metrics of an organization, which its own Prometheus scrapes: prices, ceilings, nodes, usage
 * and the measurements of GPUs.
 *
 * <p>They are not those of the process ({@code dev.bourse.signals}): a caller gets the series of
 * its organization only, the labels name its clusters and nodes, and a scrape reads the money of
 * the organization from the store. If the store is unavailable, only the money is missing.
 *
 * <p>A series exists only while its value is known, because 0 would be a wrong value. The nodes of
 * a scrape are the allocations that are open when it begins, so a node that went to another
 * organization since the last scrape has left these series.
 *
 * <p>A thousand nodes of eight GPUs have 72,000 series in 6 MB, so the text is written in pieces
 * off the event loop ({@link dev.bourse.scrape.MetricsText}); a slow client keeps the readings of
 * the nodes and one piece of text in memory.
 *
 * <p>Rejected: the Prometheus client's writer, which needs an object for each series before it
 * writes the first.
 */
@NullMarked
package dev.bourse.scrape;

import org.jspecify.annotations.NullMarked;

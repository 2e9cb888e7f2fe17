/**
 * Pools: their terms, and the prices and the demand that their markets last published. Data about
 * other bidders is rounded to the {@link dev.bourse.pools.PriceGrid}. Pure values; {@link
 * dev.bourse.capacity.Clusters} keeps them for all readers.
 */
@NullMarked
package dev.bourse.pools;

import org.jspecify.annotations.NullMarked;

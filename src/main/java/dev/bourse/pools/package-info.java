/**
 * What a pool is and what its market has last published: the terms that capacity is judged by, and
 * prices and demand. Data about other bidders is rounded to the {@link dev.bourse.pools.PriceGrid}.
 * Pure values, which {@link dev.bourse.capacity.Clusters} holds for all to read.
 */
@NullMarked
package dev.bourse.pools;

import org.jspecify.annotations.NullMarked;

/**
 * Pools and the platform's switches: what operators set for many clusters at once.
 *
 * <p>Both are stored here, put in force in {@link dev.bourse.capacity.Clusters}, whose snapshots
 * show them at once, and read again when another process has changed them. What a {@link
 * dev.bourse.capacity.Pool} is belongs to the model of capacity, which is judged by it.
 */
@NullMarked
package dev.bourse.pools;

import org.jspecify.annotations.NullMarked;

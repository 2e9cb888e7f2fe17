/**
 * World files: the pools, machines and organizations a store is seeded with.
 *
 * <p>{@link dev.bourse.world.WorldFile} is what a file lists, checked as a whole; {@link
 * dev.bourse.world.Seeding} stores what of it the store lacks. What is there already stays as it
 * is: operators may have changed it since the file was written.
 */
@NullMarked
package dev.bourse.world;

import org.jspecify.annotations.NullMarked;

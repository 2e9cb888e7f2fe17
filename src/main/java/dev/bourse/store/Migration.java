package dev.bourse.store;

/**
 * A step of the schema, as operators are told of it.
 *
 * @param number its place, from 1; the number of the last one a store has is the store's version
 * @param name what it brings, in a few words joined by hyphens
 */
public record Migration(int number, String name) {
  /** Returns the version of a store whose first missing step is this one; 0 for a new store. */
  public int versionBefore() {
    return name.equals("baseline") ? 0 : number - 1;
  }
}

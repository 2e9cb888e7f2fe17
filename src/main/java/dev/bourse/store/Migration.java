package dev.bourse.store;

/**
 * A schema migration, for display.
 *
 * @param number its position, from 1; the number of a store's last migration is the store's version
 * @param name a few words joined by hyphens
 */
public record Migration(int number, String name) {
  /** Returns the version of a store whose first missing step is this one; 0 for a new store. */
  public int versionBefore() {
    return name.equals("baseline") ? 0 : number - 1;
  }
}

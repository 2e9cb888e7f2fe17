package dev.bourse.store.postgres;

/** The statements before the first row of a group, for tests that simulate a process. */
public final class GroupStart {
  public static final String SQL = PostgresOrder.ANNOUNCE;

  private GroupStart() {}
}

package dev.bourse.store.postgres;

/** What a process says before the first row of a group, for tests that stand for a process. */
public final class GroupStart {
  public static final String SQL = PostgresOrder.ANNOUNCE;

  private GroupStart() {}
}

package dev.bourse.store.postgres;

/**
 * The primary key of a group of commits in table {@code commit_log}.
 *
 * @param sender the writer that sent the group: a random name that a process draws when it starts,
 *     and again when the database has lost groups it had stored
 * @param seq the group's number among those of its sender, from 1 and without gaps
 */
record GroupId(String sender, long seq) {}

package dev.bourse.org;

import io.vertx.core.Future;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A directory backed by the members' own rows, for services without an identity provider. */
public final class LocalDirectory implements Directory {
  @Override
  public Future<Map<String, Person>> find(List<Member> members) {
    Map<String, Person> people = new HashMap<>();
    for (Member member : members) {
      people.put(
          member.username(),
          new Person(
              member.email(),
              member.name(),
              member.suspendedAtMillis() == null,
              member.lastLoginAtMillis()));
    }
    return Future.succeededFuture(people);
  }
}

package dev.bourse.oauth;

import dev.bourse.access.Scope;
import dev.bourse.signin.Profile;
import dev.bourse.signin.Session;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** The common model of the pages that ask a member for consent. */
final class Consent {
  private Consent() {}

  /** The model of both pages: the application, the member, the scopes and the duration. */
  static Map<String, Object> model(Session session, Profile who, Client client, Set<Scope> scopes) {
    Map<String, Object> model = new LinkedHashMap<>();
    model.put("csrf", session.csrfToken());
    model.put("client", client.name());
    model.put("username", session.username());
    model.put("org_id", session.orgId());
    model.put("org_display", who.orgDisplay());
    model.put("scopes", Scopes.words(scopes));
    model.put("spends", scopes.stream().anyMatch(Scope::writesCapacity));
    model.put("authority", Scopes.createAuthority(scopes));
    model.put("lasting", duration(client));
    return model;
  }

  /** The duration of the permission, in words. */
  private static String duration(Client client) {
    return client.isRefreshing()
        ? "It may go on until you disconnect it, for %s at most; after %s without use it ends by itself."
            .formatted(days(Grants.LONGEST_MILLIS), days(Grants.IDLE_MILLIS))
        : "It may do so for %d minutes; then it has to ask again."
            .formatted(Duration.ofMillis(Grants.ACCESS_MILLIS).toMinutes());
  }

  private static String days(long millis) {
    return Duration.ofMillis(millis).toDays() + " days";
  }
}

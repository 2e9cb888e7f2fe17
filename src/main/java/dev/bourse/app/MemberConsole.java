package dev.bourse.app;

import dev.bourse.console.ApplicationRoutes;
import dev.bourse.console.JoinRuleRoutes;
import dev.bourse.console.MemberRoutes;
import dev.bourse.console.SessionRoutes;
import dev.bourse.console.SettingsRoutes;
import dev.bourse.console.TokenRoutes;
import dev.bourse.edge.Operations;
import dev.bourse.org.JoinRuleService;
import dev.bourse.org.OrgService;
import dev.bourse.org.OrgSettings;
import dev.bourse.org.RosterService;
import dev.bourse.org.TokenService;
import dev.bourse.signin.ConnectedApplications;
import dev.bourse.signin.OwnSessions;
import dev.bourse.signin.SignIn;
import dev.bourse.store.Database;
import java.time.Clock;
import java.util.random.RandomGenerator;

/** Assembles the console by which members run their organization. */
final class MemberConsole {
  private MemberConsole() {}

  /** Binds the operations. */
  static void start(
      ServiceContext context,
      Operations operations,
      Database database,
      AccessControl access,
      OrgService org,
      RosterService roster,
      JoinRuleService rules,
      SignIn signIn,
      ConnectedApplications applications) {
    Clock clock = context.clock();
    RandomGenerator random = context.random();
    operations.admit(signIn.sessions());
    new SessionRoutes(
            signIn.sessions(),
            new OwnSessions(database, applications, clock),
            context.config().checkpoints().contentUrl())
        .bind(operations);
    new ApplicationRoutes(applications).bind(operations);
    new MemberRoutes(org, roster, applications).bind(operations);
    new JoinRuleRoutes(rules).bind(operations);
    new SettingsRoutes(new OrgSettings(database, access.tokens(), clock)).bind(operations);
    new TokenRoutes(new TokenService(database, access.tokens(), clock, random), clock)
        .bind(operations);
  }
}

package dev.bourse.app;

import dev.bourse.access.AccessStore;
import dev.bourse.access.BearerAuthenticator;
import dev.bourse.access.MemberToken;
import dev.bourse.access.MemberTokens;
import dev.bourse.access.Members;
import dev.bourse.access.Operators;
import dev.bourse.access.Revocations;
import dev.bourse.access.Scope;
import dev.bourse.access.SigningKeys;
import dev.bourse.access.Tokens;
import dev.bourse.store.Database;
import dev.bourse.store.Mirror;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Who may call: what is known of organizations' tokens, operators and members, put together.
 *
 * @param tokens those of organizations
 * @param revocations what members' tokens are checked against, besides their signature
 * @param authenticator tells callers from their tokens
 */
record AccessControl(
    Tokens tokens,
    Operators operators,
    Members members,
    SigningKeys signingKeys,
    Revocations revocations,
    MemberTokens memberTokens,
    FreshCredentials authenticator) {
  /** As long as somebody may keep trying the demo without a restart, which makes new ones. */
  private static final long DEMO_TOKEN_MILLIS = 30L * 24 * 3_600 * 1_000;

  /** Nothing is read yet. */
  static AccessControl of(
      ServiceContext context,
      Database database,
      Supplier<String> baseUrl,
      LongSupplier lastKnownNanos) {
    Clock clock = context.clock();
    Config config = context.config();
    AccessStore access = new AccessStore(database);
    Tokens tokens = new Tokens(access, clock);
    Members members = new Members(access);
    SigningKeys signingKeys =
        new SigningKeys(
            context.vertx(),
            database,
            config.data(),
            context.secrets(database),
            config.access(),
            clock);
    Revocations revocations = new Revocations(database, clock);
    Operators operators = new Operators(access, clock);
    MemberTokens memberTokens =
        new MemberTokens(
            signingKeys, members, tokens, revocations, baseUrl, clock, context.random());
    long staleMillis = config.storeWatch().staleMillis();
    return new AccessControl(
        tokens,
        operators,
        members,
        signingKeys,
        revocations,
        memberTokens,
        new FreshCredentials(
            new BearerAuthenticator(tokens, operators, memberTokens),
            staleMillis == 0 ? context.nanoTime() : lastKnownNanos,
            context.nanoTime(),
            staleMillis));
  }

  /**
   * Reads what is stored; the first start of a store makes its first operator.
   *
   * @param files where that operator's token is told
   */
  Future<Void> load(ServiceContext context, Database database, KeysFiles files) {
    context.shutdown().push(tokens::flush);
    FirstOperator first = new FirstOperator(context, database);
    return Future.all(
            List.of(
                tokens.start(context.vertx()),
                operators.load().compose(loaded -> first.mint(operators, files.listOperators())),
                members.load(),
                signingKeys.start(),
                revocations.load()))
        .mapEmpty();
  }

  /** What is held of the store, by the topics that others tell its changes by. */
  Map<String, Mirror> mirrors() {
    return Map.of(
        Tokens.CHANGED,
        tokens,
        Tokens.ORGANIZATION_CHANGED,
        tokens.organizations(),
        Members.CHANGED,
        members,
        Operators.CHANGED,
        operators,
        SigningKeys.CHANGED,
        signingKeys,
        Revocations.CHANGED,
        revocations,
        Revocations.MEMBER_CHANGED,
        revocations.members());
  }

  /** Tells the demo's members their tokens; once it is known where the service is served. */
  Future<Void> noteMemberTokens(ServiceContext context, KeysFiles files) {
    return context
        .vertx()
        .executeBlocking(
            () -> {
              files.noteMemberTokens(
                  Map.of(
                      "member_token",
                      (org, member) -> demoToken(org, member, memberTokens.restAudience()),
                      "mcp_token",
                      (org, member) -> demoToken(org, member, memberTokens.mcpAudience())));
              return null;
            });
  }

  private String demoToken(String orgId, String username, String audience) {
    return memberTokens.issue(
        new MemberToken(
            orgId, username, audience, EnumSet.allOf(Scope.class), "demo", "", DEMO_TOKEN_MILLIS));
  }
}

package dev.bourse.org;

import dev.bourse.core.ApiException;
import dev.bourse.core.Bulkhead;
import dev.bourse.core.ErrorCode;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.dns.DnsClient;
import io.vertx.core.dns.DnsClientOptions;
import io.vertx.core.dns.DnsException;
import io.vertx.core.dns.DnsResponseCode;
import java.net.InetSocketAddress;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks up the DNS TXT record that proves that a domain belongs to an organization. The record has
 * a name of its own, so that its answer fits into one datagram regardless of the domain's other
 * records. Its value names the rule, whose id is random and never reused, so that the record proves
 * nothing for another organization or a later rule.
 */
public final class DomainProof {
  private static final Logger LOG = LoggerFactory.getLogger(DomainProof.class);

  private static final String NAME_PREFIX = "_bourse-challenge.";
  private static final String VALUE_PREFIX = "bourse-domain-verification=";

  /** Enough for a resolver that has to ask others; a person waits for the answer. */
  public static final long TIMEOUT_MILLIS = 5_000;

  /** Each look-up costs one datagram and a timer; people clicking do not cause more at once. */
  private static final int AT_ONCE = 32;

  private static final int AT_ONCE_OF_ORG = 2;

  private final DnsClient client;
  private final Bulkhead lookups =
      Bulkhead.of("DNS look-ups", AT_ONCE)
          .sharing(AT_ONCE_OF_ORG)
          .refusing(
              bound ->
                  ApiException.retryLater(
                      ErrorCode.OVERLOADED,
                      "%s DNS look-ups in progress; try again in 1 s".formatted(bound),
                      1_000));

  /**
   * Uses a DNS server.
   *
   * @param server the server to ask; empty for the system's
   * @param timeoutMillis the longest time for one look-up, in milliseconds
   */
  public DomainProof(Vertx vertx, Optional<InetSocketAddress> server, long timeoutMillis) {
    DnsClientOptions options = new DnsClientOptions().setQueryTimeout(timeoutMillis);
    server.ifPresent(
        address ->
            options.setHost(address.getAddress().getHostAddress()).setPort(address.getPort()));
    client = vertx.createDnsClient(options);
  }

  /** Returns the name of the TXT record for a domain. */
  static String recordName(String domain) {
    return NAME_PREFIX + domain;
  }

  /** Returns the value that the TXT record for a rule must have. */
  static String recordValue(String ruleId) {
    return VALUE_PREFIX + ruleId;
  }

  /**
   * Looks the record for a rule up, once.
   *
   * @return whether it is published; fails with {@code overloaded} if the DNS server does not
   *     answer or reports a failure
   */
  Future<Boolean> isPublished(JoinRule rule) {
    String name = recordName(rule.value());
    String value = recordValue(rule.ruleId());
    Bulkhead.Place place = lookups.enter(rule.orgId());
    return client
        .resolveTXT(name)
        .map(texts -> texts.stream().anyMatch(text -> text.strip().equals(value)))
        .recover(
            e -> {
              if (e instanceof DnsException answer && answer.code() == DnsResponseCode.NXDOMAIN) {
                return Future.succeededFuture(false);
              }
              LOG.warn("look-up of TXT record {} failed: {}", name, e.toString());
              return Future.failedFuture(
                  ApiException.retryLater(
                      ErrorCode.OVERLOADED,
                      "the DNS server does not answer for " + name + "; try again",
                      10_000));
            })
        .onComplete(done -> place.close());
  }

  /** Closes the socket. */
  public Future<Void> close() {
    return client.close();
  }
}

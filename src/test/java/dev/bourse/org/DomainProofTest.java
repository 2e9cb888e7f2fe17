package dev.bourse.org;

import static dev.bourse.capacity.StoreFixture.await;
import static dev.bourse.capacity.StoreFixture.fails;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.testing.DnsServer;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Answers of a DNS server about a domain, and the proofs among them. */
class DomainProofTest {
  private static final String RECORD = "_bourse-challenge.acme.example";

  /** Long enough for a slow machine to answer. */
  private static final long TIMEOUT_MILLIS = 30_000;

  /** For look-ups that are not answered. */
  private static final long SHORT_MILLIS = 100;

  private final Vertx vertx = Vertx.vertx();
  private final DnsServer dns = DnsServer.start();
  private final DomainProof proof =
      new DomainProof(vertx, Optional.of(dns.address()), TIMEOUT_MILLIS);

  @AfterEach
  void stop() throws Exception {
    await(proof.close());
    await(vertx.close());
    dns.close();
  }

  private Future<Boolean> look(String ruleId) {
    return look(proof, ruleId);
  }

  private static Future<Boolean> look(DomainProof proof, String ruleId) {
    return proof.isPublished(
        new JoinRule(
            ruleId,
            "acme",
            JoinRule.Kind.DOMAIN,
            "acme.example",
            1,
            "member:alice",
            null,
            null,
            null));
  }

  @Test
  void theRecordOfTheRuleProvesTheDomain() throws Exception {
    dns.publish(RECORD, "something else", "bourse-domain-verification=jr_1");

    assertTrue(await(look("jr_1")));
    assertFalse(await(look("jr_2")), "the record of another rule");
    assertFalse(await(look("jr_")), "a part of the value");
  }

  @Test
  void aRecordAtTheDomainItselfOrNoneProvesNothing() throws Exception {
    assertFalse(await(look("jr_1")));
    dns.publish("acme.example", "bourse-domain-verification=jr_1");
    assertFalse(await(look("jr_1")));
    dns.publish(RECORD);
    assertFalse(await(look("jr_1")), "a name without a record");
  }

  @Test
  void aServerThatCannotTellIsNotAnAnswer() {
    dns.fail();
    assertEquals(ErrorCode.OVERLOADED, fails(ApiException.class, look("jr_1")).code());
  }

  @Test
  void lookUpsAreBoundedInTimeAndOneOrganizationHasTwo() throws Exception {
    DomainProof hasty = new DomainProof(vertx, Optional.of(dns.address()), SHORT_MILLIS);
    dns.silence();
    // Of these no place becomes free before the third is asked for.
    look("jr_1");
    look("jr_1");
    ApiException third = assertThrows(ApiException.class, () -> look("jr_1"));
    assertEquals(ErrorCode.OVERLOADED, third.code());
    List.of(look(hasty, "jr_1"), look(hasty, "jr_1"))
        .forEach(
            each -> assertEquals(ErrorCode.OVERLOADED, fails(ApiException.class, each).code()));
    // Both places were released: the refusal is the time-out again.
    assertEquals(ErrorCode.OVERLOADED, fails(ApiException.class, look(hasty, "jr_1")).code());
    await(hasty.close());
  }
}

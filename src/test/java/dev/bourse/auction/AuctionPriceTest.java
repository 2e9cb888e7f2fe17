package dev.bourse.auction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.bourse.auction.Bidder.Participation;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a clearing costs, and what would be admitted. */
@Tag("fast")
class AuctionPriceTest extends AuctionFixture {
  // The clearing price

  /** The examples of the guide {@code market.md}. */
  @Test
  void theExamplesOfTheGuideHold() {
    Bidder acme = bid("acme", 500, 2, held("a1"), held("a2"));
    Bidder globex = bid("globex", 300, 1, held("g1"));
    Bidder initech = bid("initech", 200, 3, held("i1"));
    Clearing first = clear(seats(4), acme, globex, initech);
    assertEquals(Map.of("initech", 2), first.unseated());
    assertEquals(
        List.of(200L, 200L, RESERVE),
        Stream.of("acme", "globex", "initech").map(first::centsOf).toList());
    Clearing fewer = clear(seats(4), acme, globex, bid("initech", 200, 1, held("i1")));
    assertEquals(RESERVE, fewer.clearingCents());

    Bidder hooli = bid("hooli", 600, 4);
    assertEquals(4, clear(seats(4), acme, globex, initech, hooli).reclaims().size());
    Clearing raised =
        clear(seats(4), bid("acme", 650, 2, held("a1"), held("a2")), globex, initech, hooli);
    assertEquals(List.of(outbid("globex", "g1"), outbid("initech", "i1")), raised.reclaims());
    assertEquals(600L, raised.centsOf("acme"));

    Clearing passedOver =
        clear(seats(4), bid("a", 500, 2), gang(3, bid("b", 400, 3)), bid("c", 300, 1));
    assertEquals(Map.of("b", 3), passedOver.unseated());
  }

  @Test
  void withSeatsForAllEverybodyPaysTheReserve() {
    Clearing clearing = clear(seats(2, "n1", "n2"), bid("a", 900, 1), bid("b", 500, 1));
    assertEquals(RESERVE, clearing.clearingCents());
  }

  @Test
  void theHighestLosingBidIsThePrice() {
    Clearing clearing = clear(seats(2), bid("a", 900, 2), bid("b", 500, 1), bid("c", 400, 1));
    assertEquals(500, clearing.clearingCents());
  }

  @Test
  void aSoleBuyerDoesNotBidAgainstItself() {
    Clearing clearing = clear(seats(2), of("x", bid("a", 900, 3)), of("x", bid("b", 800, 1)));
    assertEquals(RESERVE, clearing.clearingCents());
  }

  @Test
  void aLosingBidCountsAgainstAnotherOrganizationsSeatsOnly() {
    Clearing clearing =
        clear(seats(1), of("x", bid("a", 900, 2)), of("x", bid("b", 800, 1)), bid("c", 300, 1));
    assertEquals(300, clearing.clearingCents());
  }

  @Test
  void aTieAtTheMarginIsThePriceItself() {
    Clearing clearing = clear(seats(1), bid("a", 500, 1), bid("b", 500, 1));
    assertEquals(500, clearing.clearingCents());
  }

  @Test
  void shieldedSeatsAreScarceToo() {
    Clearing clearing =
        clear(
            seats(2),
            bid("a", 200, 1, shielded("a1")),
            as(Participation.STATIC, bid("b", 0, 1, held("b1"))),
            bid("c", 900, 1));
    assertEquals(900, clearing.clearingCents());
  }

  @Test
  void itsOwnLosingBidsPriceNoNodeOfAnOrganization() {
    Clearing clearing =
        clear(
            seats(2),
            of("x", bid("a", 900, 1, held("a1"))),
            of("x", bid("a2", 800, 1)),
            bid("b", 850, 1, held("b1")),
            bid("c", 300, 1));
    assertEquals(800, clearing.clearingCents());
    assertEquals(300L, clearing.centsOf("x"));
    assertEquals(800L, clearing.centsOf("b"));
  }

  @Test
  void raisingACeilingByItselfRaisesNoPriceOfTheOwn() {
    Clearing clearing =
        clear(
            seats(2),
            of("x", bid("a", 900, 4, held("a1"))),
            bid("b", 900, 1, held("b1")),
            bid("c", 100, 1));
    assertEquals(100L, clearing.centsOf("x"));
    assertEquals(900L, clearing.centsOf("b"));
  }

  @Test
  void aGangForTheWholePoolPricesNobodyWhoseSeatsWouldNotCompleteIt() {
    Clearing clearing =
        clear(
            seats(4),
            bid("a", 900, 1, held("a1")),
            bid("b", 900, 1, held("b1")),
            bid("c", 900, 2, held("c1"), held("c2")),
            gang(4, bid("g", 899, 4)));
    assertEquals(RESERVE, clearing.clearingCents());
  }

  @Test
  void aGangPricesWhomItsMinimumWouldDisplace() {
    Clearing clearing =
        clear(
            seats(3),
            bid("a", 900, 2, held("a1"), held("a2")),
            bid("b", 900, 1, held("b1")),
            gang(2, bid("g", 800, 2)));
    assertEquals(800L, clearing.centsOf("a"));
    assertEquals(RESERVE, clearing.centsOf("b"));
    assertEquals(800L, clearing.clearingCents());
  }

  @Test
  void underANoticeWhatIsHeldMakesAPriceAndWhatIsNotHeldMakesNone() {
    Bidder noticed = as(Participation.INCUMBENTS_ONLY, bid("b", 800, 3, held("b1")));
    assertEquals(800, clear(seats(1), bid("a", 900, 1), noticed).clearingCents());
    assertEquals(RESERVE, clear(seats(2), bid("a", 900, 1), noticed).clearingCents());
  }

  // The admission price

  @Test
  void whileASeatIsLeftTheReserveAdmits() {
    assertEquals(RESERVE, clear(seats(2), bid("a", 900, 1)).admissionCents());
  }

  @Test
  void oneCentMoreThanTheWeakestIncumbentAdmits() {
    assertEquals(501, clear(seats(1), bid("a", 500, 1, held("a1"))).admissionCents());
  }

  @Test
  void oneCentMoreThanAFirstSeatAdmits() {
    assertEquals(501, clear(seats(2), bid("a", 500, 1), bid("b", 500, 1)).admissionCents());
  }

  @Test
  void theWeakestCeilingAdmitsWhenItWonSecondSeats() {
    assertEquals(500, clear(seats(2), bid("a", 500, 2)).admissionCents());
  }

  @Test
  void shieldedSeatsAdmitNobody() {
    assertNull(clear(seats(1), bid("a", 200, 1, shielded("a1"))).admissionCents());
  }

  @Test
  void aPriceAboveTheCapAdmitsNobody() {
    assertNull(clear(seats(1), bid("a", CAP, 1, held("a1"))).admissionCents());
    assertEquals(CAP, clear(seats(1), bid("a", CAP - 1, 1, held("a1"))).admissionCents());
    assertEquals(CAP, clear(seats(2), bid("a", CAP, 2)).admissionCents());
  }
}

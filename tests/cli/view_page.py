#!/usr/bin/python3
"""Clicks through pages in headless Chromium: view_page.py PAGE HOSTILE MANY STEPS RANDOM PREDICTION BESIDE SAME IDS CUT HOSTS. Prints ok and not ok."""
import os
import sys

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys


def check(name, condition, *shown):
    print(("ok - " if condition else "not ok - ") + name)
    for text in shown if not condition else ():
        print("#   " + str(text).replace("\n", "\n#   "))


def begin():
    options = Options()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1400,900", f"--user-data-dir={os.getcwd()}/profile"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))


class Page:
    def __init__(self, driver, path):
        self.driver = driver
        driver.get("file://" + os.path.abspath(path))

    def text(self, name):
        return self.driver.find_element(By.ID, name).text

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def press(self, *keys):
        ActionChains(self.driver).send_keys(*keys).perform()

    def click_event(self, event):
        """Where the diagram draws it."""
        x, y, width, height = self.run(
            "reveal(arguments[0]); return [laneX(laneOf(arguments[0])), itemY(arguments[0]), canvas.clientWidth, canvas.clientHeight]", event)
        canvas = self.driver.find_element(By.ID, "diagram")
        ActionChains(self.driver).move_to_element_with_offset(canvas, int(x - width / 2), int(y - height / 2)).click().perform()

    def errors(self):
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]


def choose_finding(page, text):
    for button in page.driver.find_elements(By.CSS_SELECTOR, "#findings button"):
        if text in button.text:
            button.click()
            return
    check(f"there is a finding {text}", False, page.text("findings"))


def test_findings(page):
    check("the page fills the window", page.run("return document.querySelector('main').getBoundingClientRect().bottom === innerHeight"))
    check("the page lists the findings", "race" in page.text("findings") and "chain" in page.text("findings"), page.text("findings"))
    choose_finding(page, "race")
    shown = page.text("finding")
    check("a race: the page says that nothing orders its events", "Nothing orders $1 and $2" in shown, shown)
    check("a race: the page says what leads from one thread to the other", "nothing leads from" in shown, shown)
    check("a race: the page shows the locks that are held at both events", "$1: none" in shown and "0x10 (mutex)" in shown and "No lock is held at both" in shown, shown)
    check("a race: the page shows the source lines of both events", "return queue" in shown and "queue = 1" in shown, shown)
    choose_finding(page, "chain")
    shown = page.text("finding")
    check("a match of events in order: the page names the edge that orders them", "$1 precedes $2 by 1 edge" in shown and "mutex" in shown and
          "pthread_mutex_unlock(0x10)" in shown, shown)
    page.driver.find_element(By.XPATH, "//button[text()='Show this chain']").click()
    check("a match of events in order: the edges between them are emphasised", page.run("return view.chain.length") == 1)


def test_events(page):
    page.click_event(3)
    shown = page.text("event")
    check("a click selects an event and describes it", "pthread_mutex_unlock(0x10)" in shown, shown)
    check("a selected event is shown with its edges by kind", "mutex" in shown and "pthread_mutex_lock(0x10) returned 0" in shown, shown)
    check("a selected event is shown with the numbers of events before it, after it and independent of it", "2 events precede it, 3 follow, 1 are independent" in shown, shown)
    page.press(Keys.ARROW_DOWN)
    check("a key selects the event of the next row", "number 5" in page.text("event"), page.text("event"))
    page.press("j")
    check("a key selects the next event of the thread", "number 6" in page.text("event"), page.text("event"))
    check("a lock has a bar as long as it is held", page.run("return bars.length") == 2 and "holds" in page.text("event"), page.text("event"))
    page.press("]")
    check("a key selects the next finding", page.run("return order.indexOf(view.finding)") is not None and page.text("event") == "", page.text("event"))


def test_filters(page):
    field = page.driver.find_element(By.ID, "search")
    field.send_keys("put", Keys.ENTER)
    check("a search finds an event by its text and selects it", "1 of 1" in page.text("found") and "put(7)" in page.text("event"), page.text("found"), page.text("event"))
    field.clear()
    drawn = "return [...itemOf].filter(item => item >= 0).length"
    for name, text, wanted in (("by-name", "get", 2), ("by-object", "0x10", 4)):
        page.run("at(arguments[0]).value = arguments[1]; at(arguments[0]).dispatchEvent(new Event('change'))", name, text)
        check(f"{name} shows {wanted} events", page.run(drawn) == wanted, page.run(drawn))
        page.run("at(arguments[0]).value = ''; at(arguments[0]).dispatchEvent(new Event('change'))", name)
    page.run("at('threads').open = true; at('lanes').querySelector('input').click()")
    check("the events of a hidden thread are not drawn", page.run(drawn) == 3, page.run(drawn))
    page.run("at('lanes').querySelector('input').click()")
    page.run("at('rows').value = 'causal'; at('rows').dispatchEvent(new Event('change'))")
    rows = page.run("return [...itemOf].map(item => items[item].row)")
    check("rows by causal depth put independent events side by side", rows == [0, 0, 1, 2, 3, 4, 5], rows)
    page.run("setShown('linked'); layout()")
    check("local events of a thread are drawn as one", page.run("return items.length") < 7, page.run("return items.length"))
    page.run("at('theme').click()")
    check("the button for light and dark changes the colours", page.run("const was = colours.back; at('theme').click(); return was !== colours.back"))


def test_hostile(page):
    check("names that are scripts are not run", page.driver.title.startswith("dpe: "), page.driver.title)
    page.run("select(0)")
    shown = page.text("event")
    check("names that are scripts are shown as text", "<script>document.title='owned'</script><img" in shown, shown)
    check("names with tags make no elements", page.run("return document.querySelectorAll('img, main script').length") == 0)
    check("a character that reverses the direction of text is shown as its number", "\\u202e" in shown and "\u202e" not in page.run("return JSON.stringify(data)"), shown)


def test_many(page):
    check("a log of 100000 events: the page has all", page.run("return count") == 100000)
    check("a log of 100000 events: fewer than 1000 are drawn at a time", page.run("return items.length") < 1000, page.run("return items.length"))
    page.run("setShown('all'); layout(); select(99999)")
    check("a log of 100000 events: the last one can be selected", "number 100000" in page.text("event"), page.text("event"))
    where = page.run("return itemY(99999)")
    check("a log of 100000 events: the selected one is scrolled into view", 0 < where < 900, where)


def states_of(page, rule):
    """[class, number] of the states that are marked in the automaton of the rule's slice at the selected event."""
    return page.run("""return [...document.querySelectorAll('#event .pair')].filter(pair => pair.querySelector('b').textContent.split(' ')[0] === arguments[0])
        .flatMap(pair => [...pair.querySelectorAll('.state.now, .state.refused')].map(state => [state.classList[1], state.querySelector('text').textContent]));""", rule)


WRONG_STEPS = """
    const wrong = [];
    let looked = 0;
    for (const steps of stepsOfSlice.values())
        steps.forEach((step, i) => {
            const automaton = (data.automata[step.rule] || [])[0];
            if (!automaton || automaton.net || data.rules[step.rule][2] !== 'expect' || step.does !== 'takes it')
                return;
            looked++;
            const before = i ? statesIn(automaton, 0, steps[i - 1].states) : new Set([0]);
            for (const state of statesIn(automaton, 0, step.states))
                if (!automaton.transitions.some(move => before.has(move.from) && move.to === state && base(move.event) === nameOf(step.event)))
                    wrong.push([step.event, [...before], state]);
        });
    return looked > 8 ? wrong : ['only', looked];"""


# The events that tokens reach through places alone are what the recognizer expects. A token behind copies waits for all of
# them to end. Tokens behind an operand of & wait for the other one, and an event may belong to both: there they may be more.
WRONG_PLACES = """
    const wrong = [];
    let looked = 0;
    const isWithin = (block, outer) => block === outer || (block.parent && isWithin(block.parent, outer));
    const reach = (marked, place, found, parents) => {
        const block = parents[place >> 1], {op, kids, number, parent} = block, before = kid => reach(marked, 2 * kid.number, found, parents);
        if (found.has(place) || (place % 2 && op === '@' && [...marked].some(at => at !== 2 * kids[0].number + 1 && isWithin(parents[at >> 1], kids[0]))))
            return found;
        found.add(place);
        if (place % 2 === 0) {
            if (block.event)
                found.add(block.event);
            (op === ';' ? kids.slice(0, 1) : kids).forEach(before);
            if (op === '*' || op === '@')
                reach(marked, place + 1, found, parents);
        } else if (parent) {
            if (parent.op === ';' && parent.kids[0] === block)
                before(parent.kids[1]);
            else
                reach(marked, 2 * parent.number + 1, found, parents);
            if (parent.op === '*')
                before(block);
        }
        return found;
    };
    for (const step of [...stepsOfSlice.values()].flat())
        (data.automata[step.rule] || []).forEach((automaton, number) => {
            if (!automaton || !automaton.net || step.does !== 'takes it')
                return;
            const root = numberBlocks(automaton.net, {next: 0}), parents = [];
            const list = (block, parent) => { block.parent = parent; parents[block.number] = block; block.kids.forEach(kid => list(kid, block)); };
            list(root, null);
            looked++;
            const marked = statesIn(automaton, number, step.states);
            const reached = new Set([...marked].flatMap(place => [...reach(marked, place, new Set(), parents)]).filter(is => typeof is === 'string'));
            const expected = new Set(step.expected.map(words => text(words).split(' ')[0]));
            const alike = parents.some(block => block.op === '&') || [...reached].every(event => expected.has(event));
            if (!alike || ![...expected].every(event => reached.has(event)))
                wrong.push([step.event, data.rules[step.rule][0], [...reached], [...expected]]);
        });
    return looked > 10 ? wrong : ['only', looked];"""


def test_steps(page):
    choose_finding(page, "file")
    shown = page.text("finding")
    check("a violation says what was expected", 'f = "a"' in shown and "came right after" in shown and "expected nothing more" in shown, shown)
    page.run("select(3)")
    shown = page.text("event")
    check("the rule's slice is beside the event", 'file {f = a}' in shown and "close(\"a\") takes it" in shown and "right after write" in shown, shown)
    page.driver.find_element(By.XPATH, "//div[@id='event']//button[text()='›']").click()
    shown = page.text("event")
    check("a key for the rule's next event selects the one that the automaton refuses", "number 5" in shown and "refuses it" in shown, shown)
    page.driver.find_element(By.XPATH, "//div[@id='event']//button[text()='‹']").click()
    check("a key for the rule's event before selects the one that the automaton takes", "number 4" in page.text("event"), page.text("event"))
    shown = states_of(page, "file")
    check("the automaton has the state that the event leads to", shown == [["now", "4"]], shown)
    taken = page.run("return [...document.querySelectorAll('.automaton')][0].querySelectorAll('.taken title').length")
    check("the automaton has the move marked that the event takes", taken == 1, taken)
    page.run("select(4)")
    shown = states_of(page, "file")
    check("a state that refuses an event is marked", shown == [["refused", "4"]], shown)
    page.run("select(10)")
    check("a match is shown in the final state of its search", ["now", "3"] in states_of(page, "order"), states_of(page, "order"))
    page.run("select(9)")
    check("a partial match is shown in the state of its search", states_of(page, "order") == [["now", "2"]], states_of(page, "order"))
    page.run("select(6)")
    check("partial matches of the operands of & are shown each in its own automaton", states_of(page, "beside") == [["now", "2"], ["now", "1"]], states_of(page, "beside"))
    page.run("select(12)")
    check("a rule that tokens follow says what may come next", "May come next: seek(f) after open(f); tell(f) after seek(f)" in page.text("event"), page.text("event"))
    marked = page.run("return [stepsAt.get(12).find(step => data.rules[step.rule][0] === 'copies').states, document.querySelectorAll('.net .now .token').length]")
    check("a copy of the net has begun, and others may", marked[0] == [0, 4, 0, 10] and marked[1] > 2, marked)
    bars = page.run("return [...document.querySelectorAll('.net')].map(net => net.querySelectorAll('.bar').length)")
    check("the net of a rule has a bar for each event of the rule", bars == [3, 6], bars)
    wrong = page.run(WRONG_PLACES)
    check("in the net, the events that may come next are behind places with tokens", not wrong, wrong)
    wrong = page.run(WRONG_STEPS)
    check("each state is reached from one before it by a move of the event's name", not wrong, wrong)
    page.run("select(3)")
    page.driver.find_element(By.XPATH, "//div[@id='event']//button[text()='Only its events']").click()
    page.press(".")
    check("a key selects the next event of the slice", "number 5" in page.text("event"), page.text("event"))
    page.press(",")
    check("another key selects the event of the slice before", "number 4" in page.text("event"), page.text("event"))
    check("the events of the slice alone can be shown", page.run("return [...itemOf].filter(item => item >= 0).length") == 4)


def test_order(page):
    """The chains of edges that the page finds are the order that dpe found."""
    pairs, wrong, kinds = page.run("""
        const wrong = [];
        let pairs = 0;
        for (const finding of data.findings)
            for (const [i, a] of finding.events.entries())
                for (const [j, b] of finding.events.entries()) {
                    const says = finding.order.some(([x, y]) => x === i && y === j);
                    pairs += i !== j;
                    if (i !== j && (says !== !!pastOf(b.event)[a.event] || (says && chainOf(a.event, b.event) === null)))
                        wrong.push([finding.rule, a.event, b.event, says]);
                }
        return [pairs, wrong, [...new Set([...inRule].map(kindName))].sort()];""")
    check("chains of edges make dpe's order", pairs > 200 and not wrong, pairs, wrong)
    check("the lanes of threads of several hosts name the hosts", page.run("return laneName(0)") in ('thread 0 on "h0"', 'thread 1 on "h1"', 'thread 2 on "h0"', 'thread 3 on "h1"'), page.run("return laneName(0)"))
    check("each edge of a random log has the name of its rule", kinds == ["lock", "pipe", "predecessor"], kinds)


def test_prediction(page):
    shown = page.text("finding")
    check("a predicted match is shown with its schedule", "predicted match" in shown and "thread 1 until get" in shown, shown)
    check("a predicted match is shown with what it says about other runs", "possible in another run, unless unobserved data prevents it" in shown, shown)
    check("a predicted match is shown with the order of its events in the observed run", "In this run" in shown and "$1 precedes $2 by 1 edge" in shown, shown)


COMMON = """
    let seed = 7;
    const random = n => { seed = (seed * 1103515245 + 12345) % 2147483648; return (seed >> 8) % n; };
    const longest = (a, b) => {
        const best = Array.from({length: a.length + 1}, () => new Array(b.length + 1).fill(0));
        for (let i = 1; i <= a.length; i++)
            for (let j = 1; j <= b.length; j++)
                best[i][j] = a[i - 1] === b[j - 1] ? best[i - 1][j - 1] + 1 : Math.max(best[i - 1][j], best[i][j - 1]);
        return best[a.length][b.length];
    };
    for (let turn = 0; turn < 2000; turn++) {
        const [a, b] = [0, 1].map(() => Array.from({length: random(12)}, () => random(4)));
        const pairs = alignLists(a, b).pairs.sort((x, y) => x[0] - y[0]);
        if (pairs.length !== longest(a, b) || pairs.some(([i, j], k) => a[i] !== b[j] || (k && (pairs[k - 1][0] >= i || pairs[k - 1][1] >= j))))
            return [a, b, pairs, longest(a, b)];
    }
    return null;"""

PLACES = """
    const wrong = [];
    for (let event = 0; event < count; event++) {
        const other = data.counterpart[event];
        if (other >= 0 && (data.counterpart[other] !== event || isInA(other) === isInA(event) || nameOf(other) !== nameOf(event)))
            wrong.push(['pair', event, other]);
        if (previous[event] >= event || edgesTo(event).some(edge => inFrom[edge] >= event || isInA(inFrom[edge]) !== isInA(event)))
            wrong.push(['order', event]);
    }
    return wrong;"""


def test_beside(page):
    check("two runs: the title names both", "A: fail.jsonl" in page.text("title") and "B: pass.jsonl" in page.text("title"), page.text("title"))
    shown = page.text("findings")
    check("two runs: a finding names its run", "1 finding" in shown and "A violated box" in shown, shown)
    check("two runs: events that only one of them has are listed by thread", "B thread 102: 2 events that A thread 202 does not have" in shown, shown)
    check("two runs: locks that are taken in another order are listed", "in A, thread 201 before thread 202; in B, after it" in shown and "in B, thread 102 before thread 101; in A, after it" in shown, shown)
    page.run("select(data.events.findIndex((row, event) => !isInA(event) && nameOf(event) === 'get' && label(event) === 'get(1)'))")
    shown = page.text("event")
    check("two runs: a selected event is shown with its counterpart", "get(1), A thread 202" in shown, shown)
    check("two runs: the order of an event is that of its own run", "10 events precede it, 7 follow, 2 are independent" in shown, shown)
    rows = page.run("return data.counterpart.map((other, event) => other < 0 || event > other ? 0 : items[itemOf[other]].row - items[itemOf[event]].row)")
    check("two runs: counterparts are in one row where their order allows it", rows.count(0) > len(rows) * 0.8, rows)
    page.driver.find_element(By.XPATH, "//nav//button[contains(., '2 events that')]").click()
    shown = page.text("event")
    check("two runs: a click on a difference selects its first event", "pthread_mutex_lock" in shown and "no counterpart" in shown, shown)
    page.driver.find_element(By.XPATH, "//nav//button[contains(., 'in A, thread 201')]").click()
    check("two runs: a click on a difference emphasises its edge", page.run("return view.chain.length") == 1)
    wrong = page.run(COMMON)
    check("two runs: random lists are aligned as well as by a slow reference", wrong is None, wrong)
    wrong = page.run(PLACES)
    check("two runs: pairs are of both runs, and keep the order of each", not wrong, wrong)


def test_same(page):
    check("a run does not differ from itself", "Nothing: the same events, in the same order." in page.text("findings"), page.text("findings"))
    check("a run compared with itself: events with other addresses and threads are counterparts", page.run("return data.counterpart.every(other => other >= 0)"))


def test_ids(page):
    shown = page.text("findings")
    check("an argument that looks like a thread's id is kept apart from another one", shown.count("1 event that") == 2 and "put(1)" in shown and "put(2)" in shown, shown)


def test_cut(page):
    shown = page.text("notes")
    check("threads that differ in more than 2000 events are named", "The threads 1 of A and 1 of B differ in more than 2000 events" in shown, shown)
    pairs = page.run("return data.counterpart.reduce((sum, other) => sum + (other >= 0), 0)")
    check("threads that differ in more than 2000 events: their equal beginnings and ends are aligned", pairs == 4, pairs)
    check("threads that differ in more than 2000 events are not reported as equal", "Nothing" not in page.text("findings"), page.text("findings"))


def test_hosts(page):
    edges = page.run("return [...inFrom].map((from, i) => [nameOf(from), kindName(inRule[i]), inHead[i] > from])")
    check("an edge has its rule where what receives is above what sends", len(edges) == 7 and all(edge == ["send", "message", True] for edge in edges), edges)


def main(paths):
    driver = begin()
    try:
        for path, tests in zip(paths, ((test_findings, test_events, test_filters), (test_hostile,), (test_many,), (test_steps,), (test_order,), (test_prediction,), (test_beside,), (test_same,), (test_ids,), (test_cut,), (test_hosts,))):
            page = Page(driver, path)
            for test in tests:
                test(page)
            errors = page.errors()
            check(f"{path}: no errors in the console", not errors, *errors)
    finally:
        driver.quit()


if __name__ == "__main__":
    main(sys.argv[1:])

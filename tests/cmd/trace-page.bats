# SPDX-License-Identifier: GPL-3.0-or-later
# trace-page.bats - what was recorded in the forms that are looked at: a page for a browser, a flame
# graph, and the files of other programs
#
# shellcheck disable=SC2030,SC2031 # output is used in the test that sets it
bats_require_minimum_version 1.5.0

# What a name would do if the page took it for more than a name.
HOSTILE="</script><script>document.title='bad'</script><img src=x onerror=document.title='bad'>\"'&"

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/tools.bash"
	cd "$BATS_FILE_TMPDIR" || return
	cat > busy.c <<- 'C'
		#include <pthread.h>
		#include <setjmp.h>
		#include <signal.h>
		#include <sys/prctl.h>
		#define KEPT __attribute__((noinline))
		static volatile long sink;
		static jmp_buf out;
		KEPT void leaf(void) { sink++; }
		KEPT void parent(int n) { for (int i = 0; i < n; i++) leaf(); }
		KEPT void hostile(void) { leaf(); sink++; }
		KEPT void jumper(void) { leaf(); longjmp(out, 1); }
		KEPT void waiter(void) { leaf(); raise(SIGSTOP); sink++; }
		static void *run(void *arg)
		{
			prctl(PR_SET_NAME, "the worker");
			for (int i = 0; i < 10; i++)
				parent(9999);
			waiter();
			return arg;
		}
		int main(void)
		{
			pthread_t one;

			raise(SIGSTOP);
			hostile();
			if (!setjmp(out))
				jumper();
			pthread_create(&one, NULL, run, NULL);
			return pthread_join(one, NULL);
		}
	C
	"$TARGET_CC" -g -O1 -fno-optimize-sibling-calls -pthread -o plain busy.c || return
	objcopy --redefine-sym "hostile=$HOSTILE" plain busy
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/trace.bash"
	source "$BATS_TEST_DIRNAME/../lib/process.bash"
	cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
	[ -z "${BUSY:-}" ] || { kill -KILL "$BUSY"; wait "$BUSY" || true; } 2> /dev/null
}

stopped() {
	grep -q 'State:.*T (stopped)' "/proc/$BUSY/status"
}

waits() {
	stopped && grep -q worker /proc/"$BUSY"/task/*/comm
}

# record [OPTION]... - runs the program between its two stops, traced, and saves all of it
record() {
	"$BATS_FILE_TMPDIR/busy" 3>&- &
	BUSY=$!
	until_true 10 stopped || fail 'it does not begin'
	tool uspl-trace start "$@" "$BUSY"
	expect_status 0
	kill -CONT "$BUSY"
	until_true 20 waits || fail 'it does not come to its end'
	tool uspl-trace record -o saved "$BUSY"
	expect_status 0
}

# browse FILE STEP... - opens it in a browser; the results of the steps are in $lines
browse() {
	command -v chromium > /dev/null || skip 'chromium is not installed'
	run --separate-stderr python3 "$BATS_TEST_DIRNAME/../lib/browser.py" "$@"
	[ -z "$stderr" ] || fail "on the page: $stderr"
	[ "$status" = 0 ] || fail "the browser: status $status"
}

text_of() {
	echo "eval:document.querySelector('$1').textContent"
}

@test "a page shows the calls, zooms and finds" {
	record --buffer=4096
	tool uspl-trace record -o page.html saved
	expect_status 0
	expect_output '^page.html: 100007 calls$'
	browse page.html eval:document.title "$(text_of '#about')" "$(text_of '#losses')" \
		'type:#search=leaf' "$(text_of '#found')" key:Enter 'eval:timeline.to - timeline.from < timeline.last / 1000' \
		'click:#whole@5,5' 'eval:timeline.to === timeline.last' \
		'wheel:#timeline canvas@300,50,-100' 'eval:timeline.to < timeline.last' \
		'type:#search=no such function' "$(text_of '#found')" \
		'type:#search=/^par/' "$(text_of '#found')" "$(text_of '#rows')" \
		'eval:flame.frames.find(([node]) => title(node) === "parent")[2] < flame.width' \
		'eval:[...document.querySelectorAll("th")].map((head) => head.click()).length' \
		'eval:(() => { flame.zoom(flame.frames.find(([node]) => title(node) === "parent")[0]); return 1; })()' \
		"$(text_of '#zoomed')" 'eval:flame.frames.find(([node]) => title(node) === "parent")[2] === flame.width' \
		'click:#reset@5,5' "$(text_of '#zoomed')"
	[ "${lines[0]}" = "\"busy ($BUSY)\"" ] || fail title
	[ "${lines[1]}" = '"tracer graph, 100007 calls in 2 threads"' ] || fail about
	[ "${lines[2]}" = '""' ] || fail losses
	[[ ${lines[3]} =~ ^'"functions: 1, calls: 99993, '[0-9.]+' % of the time"'$ ]] || fail found
	[ "${lines[*]:4:3}" = 'true true true' ] || fail zoom
	[ "${lines[7]}" = '"functions: 0, calls: 0, 0.00 % of the time"' ] || fail 'nothing found'
	[[ ${lines[8]} =~ ^'"functions: 1, calls: 10, '[0-9.]+' % of the time"'$ ]] || fail 'a regular expression'
	[[ ${lines[9]} = '"10'*parent'"' ]] || fail table
	[ "${lines[10]} ${lines[11]}" = 'true 4' ] || fail 'a narrow frame'
	[[ ${lines[13]} = '"parent: '*' % of all"' ]] || fail 'zoomed in'
	[ "${lines[14]} ${lines[15]}" = 'true ""' ] || fail 'zoomed out'
}

@test "a page is used with the mouse" {
	record --buffer=4096 -F parent -F waiter
	tool uspl-trace record -o page.html saved
	expect_status 0
	# A row is 18 high, and the callers are above. The open call reaches to the right end.
	browse page.html 'move:#flame canvas@20,27' "$(text_of '#tip')" 'click:#flame canvas@20,27' "$(text_of '#zoomed')" \
		"eval:(() => { const call = calls.name.findIndex((name) => data.names[name][0] === 'waiter'); timeline.show(call); return calls.flags[call]; })()" \
		'double:#timeline canvas@1200,41' 'move:#timeline canvas@1200,41' "$(text_of '#tip')" shot:page.png
	[[ ${lines[0]} = *'% of all'* || ${lines[1]} = *'% of all"' ]] || fail 'a click on a frame'
	[[ ${lines[0]} = *'busy, busy.c:'*total*own* ]] || fail 'what a frame is'
	[ "${lines[2]}" = 2 ] || fail 'an open call'
	[[ ${lines[3]} = *waiter*open:* ]] || fail 'what a call is'
	[ -s page.png ] || fail 'no picture'
}

@test "names run nothing on a page, and losses, open calls and those that were left are seen" {
	record --buffer=64
	tool uspl-trace record -o page.html saved
	expect_status 0
	[ "$(grep -c '<script' page.html)" = 2 ] || fail 'a name stands on the page as it is'
	browse page.html eval:document.title "$(text_of '#losses')" \
		"eval:data.names.map((name) => name[0]).filter((name) => name.includes('script'))" \
		'eval:data.threads.map((thread) => thread.name)' \
		'eval:data.threads.map((thread) => thread.lostTo > 0)' \
		"eval:[...calls.flags].map((flags, i) => flags & 3 ? data.names[calls.name[i]][0] + flags : '').filter((name) => name)" \
		"eval:(() => { find('hostile'); find('script'); return search.hits.length; })()" \
		"eval:[...document.querySelectorAll('#rows td')].some((cell) => cell.textContent.startsWith('</script>'))"
	[ "${lines[0]}" = "\"busy ($BUSY)\"" ] || fail 'a name has become markup'
	[[ ${lines[1]} = *' older records were overwritten"' ]] || fail losses
	[ "$(jq -r '.[0]' <<< "${lines[2]}")" = "$HOSTILE" ] || fail 'the name is another one'
	[ "${lines[3]}" = '["busy", "the worker"]' ] || fail 'names of threads'
	[ "${lines[4]}" = '[false, true]' ] || fail 'where records were overwritten'
	[ "${lines[5]}" = '["jumper1", "run6", "waiter2"]' ] || fail 'calls that did not return'
	[ "${lines[6]} ${lines[7]}" = '1 true' ] || fail 'it is not found'
}

@test "a page of a hundred thousand calls is drawn at once" {
	record --buffer=4096
	tool uspl-trace record -o page.html saved
	expect_status 0
	# What is drawn is bounded by the width of the window, not by the number of calls.
	browse page.html "eval:(() => { let n = 0; const plain = timeline.frame; timeline.frame = (...all) => { n++; plain.apply(timeline, all); }; timeline.draw(); return [calls.n > 100000, n < 4 * timeline.width]; })()"
	[ "${lines[0]}" = '[true, true]' ] || fail 'more is drawn than can be seen'
}

@test "a flame graph as SVG is well formed, whatever names are" {
	# With the leaves, whose recording takes time, no share is too narrow to be drawn.
	record --buffer=4096 -F parent -F leaf -F waiter -F '*script*' -F jumper
	tool uspl-trace cat --format=svg saved
	expect_status 0
	printf '%s\n' "$output" > flame.svg
	run python3 - <<- 'END'
		import xml.etree.ElementTree
		tree = xml.etree.ElementTree.parse('flame.svg')
		frames = tree.findall('.//{http://www.w3.org/2000/svg}g')
		for frame in frames:
		    rect = frame.find('{http://www.w3.org/2000/svg}rect')
		    print(frame[0].text.split(':')[0], float(rect.get('width')) <= 1200)
		print([e.tag for e in tree.iter() if 'script' in e.tag or 'img' in e.tag])
	END
	expect_output 'parent \(busy\) True'
	expect_output 'waiter \(busy\) True'
	[ "${lines[-1]}" = '[]' ] || fail 'a name has become markup'
	tool uspl-trace record -o other.svg saved
	expect_status 0
	[ "$(cat other.svg)" = "$(cat flame.svg)" ] || fail 'record writes another one'
}

@test "a file of speedscope: what opens closes, in order" {
	record --buffer=64
	tool uspl-trace record -o all.speedscope.json saved
	expect_status 0
	jq -e '."$schema" == "https://www.speedscope.app/file-format-schema.json" and (.profiles | length == 2) and
		(.profiles | all(.type == "evented" and .unit == "nanoseconds" and .startValue <= .endValue)) and
		(.shared.frames | length) as $n | [.profiles[].events[] | .frame >= 0 and .frame < $n] | all' \
		all.speedscope.json > /dev/null || fail 'not in its form'
	run python3 - <<- 'END'
		import json
		for profile in json.load(open('all.speedscope.json'))['profiles']:
		    at, stack = profile['startValue'], []
		    for event in profile['events']:
		        assert event['at'] >= at
		        at = event['at']
		        if event['type'] == 'O':
		            stack.append(event['frame'])
		        else:
		            assert stack.pop() == event['frame']
		    assert not stack and at <= profile['endValue']
		    print(len(profile['events']))
	END
	[ "$status" = 0 ] || fail 'what opens does not close'
	[ "${lines[0]}" = 8 ] || fail 'the main thread made four calls'
}

@test "a folder that babeltrace2 reads" {
	command -v babeltrace2 > /dev/null || skip 'babeltrace2 is not installed'
	record --buffer=4096
	tool uspl-trace record --format=ctf -o folder saved
	expect_status 0
	tool uspl-trace record --format=ctf -o folder saved
	expect_status 3
	expect_message 'cannot make the folder'
	babeltrace2 folder > events 2> complaints || fail 'it does not read it'
	[ ! -s complaints ] || fail "it complains: $(cat complaints)"
	[ "$(grep -c ' entry: .*"leaf"' events)" = 99993 ] || fail entries
	[ "$(grep -c ' exit: .*"leaf".*"returned"' events)" = 99993 ] || fail exits
	[ "$(grep -c ' exit: .*"jumper".*"left"' events)" = 1 ] || fail 'the call that was left'
	[ "$(grep -c ' exit: .*"waiter".*"open"' events)" = 1 ] || fail 'the call that is open'
	[ "$(grep -c ' entry: .*</script>' events)" = 1 ] || fail 'a name'
}

@test "what a form can't do" {
	record --tracer=function
	local form
	for form in svg html speedscope; do
		tool uspl-trace cat "--format=$form" saved
		expect_status 1
		expect_message "the format '$form' needs durations"
		tool uspl-trace cat --follow "--format=$form" "$BUSY"
		expect_one_message
	done
	tool uspl-trace record -o x.html saved
	expect_status 1
	[ ! -e x.html ] || fail 'it has left a file'
	tool uspl-trace record --format=pictures -o x saved
	expect_status 2
	expect_message "hint: there are 'uspl', 'uftrace', 'ctf'"
	tool uspl-trace stop "$BUSY"
	tool uspl-trace start "$BUSY"
	expect_status 0
	tool uspl-trace cat --follow --format=html "$BUSY"
	expect_status 2
	expect_message "made of all that was recorded"
	tool uspl-trace stop "$BUSY"
	expect_status 0
}

@test "samples as a page and as a flame graph" {
	sh -c 'while :; do :; done' 3>&- &
	BUSY=$!
	tool uspl-trace start --tracer=sample --time=0.5 --format=html "$BUSY"
	expect_status 0
	printf '%s\n' "$output" > page.html
	tool uspl-trace start --tracer=sample --time=0.5 --format=svg "$BUSY"
	expect_status 0
	expect_output '</svg>'
	browse page.html "$(text_of '#about')" 'eval:timeline === null'
	[[ ${lines[0]} =~ ^'"tracer sample, '[1-9][0-9]*' samples"'$ ]] || fail about
	[ "${lines[1]}" = true ] || fail 'samples have no timeline'
}

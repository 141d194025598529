package main

// task is one turn: a question of the user, and the tools that it takes, each with the words in which a
// model that does not see the tool searches for it.
type task struct {
	question string
	uses     []use
}

type use struct{ tool, words string }

// tasks is a working day. Some tools are needed more than once.
var tasks = []task{
	{"Which incidents are open?", []use{{"list_error_issues", "list unresolved error issues"}, {"acknowledge_incident", "acknowledge an incident"}}},
	{"Look at the logs of the checkout pod.", []use{{"pods_list_in_namespace", "list pods of a namespace"}, {"pods_log", "logs of a pod"}}},
	{"Who touched the checkout last?", []use{{"git_log", "history of commits"}, {"git_blame", "who changed a line of a file"}}},
	{"Open an issue for it.", []use{{"create_issue", "create an issue in a github repository"}}},
	{"Tell the team.", []use{{"slack_post_message", "post a message to a slack channel"}}},
	{"Is the database slow?", []use{{"pg_top_queries", "slowest queries of the database"}, {"pg_explain", "query plan"}}},
	{"Which index is missing?", []use{{"pg_suggest_indexes", "recommend indexes"}, {"pg_describe_table", "columns of a table"}}},
	{"Look at the logs again.", []use{{"pods_log", "logs of a pod"}}},
	{"Restart the deployment.", []use{{"deployments_rollout_restart", "restart a deployment"}, {"pods_list_in_namespace", "list pods of a namespace"}}},
	{"Tell the team.", []use{{"slack_post_message", "post a message to a slack channel"}}},
	{"Refund the customers who paid twice.", []use{{"list_payment_intents", "list payments"}, {"create_refund", "refund a payment"}}},
	{"Mail them.", []use{{"send_email", "send an email"}}},
	{"Plan the fix in this sprint.", []use{{"jira_get_sprints", "sprints of a board"}, {"jira_create_issue", "create a jira issue"}}},
	{"Fix it on a branch.", []use{{"git_create_branch", "new branch"}, {"git_commit", "commit staged changes"}}},
	{"Open a pull request.", []use{{"create_pull_request", "open a pull request"}}},
	{"Does it pass?", []use{{"get_pull_request_status", "checks of a pull request"}, {"list_workflow_runs", "runs of a workflow"}}},
	{"Run the flaky job again.", []use{{"rerun_failed_jobs", "run failed jobs again"}}},
	{"Merge it.", []use{{"merge_pull_request", "merge a pull request"}, {"jira_transition_issue", "move a jira issue to another status"}}},
	{"Roll it out.", []use{{"helm_install", "install a helm chart"}, {"pods_list_in_namespace", "list pods of a namespace"}}},
	{"Is it better now?", []use{{"query_prometheus", "query metrics with promql"}, {"pg_top_queries", "slowest queries of the database"}}},
	{"Tell the team.", []use{{"slack_post_message", "post a message to a slack channel"}}},
	{"Which bills are open?", []use{{"list_customers", "list customers"}, {"create_invoice", "create an invoice"}}},
	{"Build the app for the simulator.", []use{{"build_sim", "xcode build for the simulator"}, {"test_sim", "run tests on a simulator"}}},
	{"Look at the page.", []use{{"browser_navigate", "open a url in the browser"}, {"browser_take_screenshot", "screenshot of a page"}}},
	{"Are there errors on it?", []use{{"browser_console_messages", "console messages of the page"}}},
	{"What did the cloud cost?", []use{{"cost_explorer_get_costs", "cloud costs"}}},
	{"Log my time.", []use{{"jira_add_worklog", "log work on a jira issue"}}},
	{"Look at the logs a last time.", []use{{"pods_log", "logs of a pod"}, {"query_loki_logs", "query loki logs"}}},
	{"Make a release.", []use{{"create_release", "create a release on github"}}},
	{"Say that I am away.", []use{{"set_vacation_responder", "automatic reply while away"}, {"slack_set_status", "set my slack status"}}},
}
